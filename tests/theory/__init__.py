"""Theory against published tables, exact slow twins, simulation and the trees themselves."""
