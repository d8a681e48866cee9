"""HTTP: the application, its routes, what every request passes, errors as problem details."""
