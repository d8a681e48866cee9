"""Sources that are tables: text, ARFF, libsvm, Parquet, Arrow, data frames."""
