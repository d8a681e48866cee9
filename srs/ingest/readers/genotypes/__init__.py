"""What formats of genotypes share: sources of dosages, variants, and tables of individuals."""
