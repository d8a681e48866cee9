"""Values to codes: order, levels, transposition, sparse values."""
