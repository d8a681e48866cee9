"""Who asks: API keys, sessions of browsers, tokens of an OpenID Connect issuer."""
