"""What a run does about covariates: the null model of the target, and cells of alike samples.

Three things are done about a covariate. The target is adjusted: trees learn score residuals of the
null model, and many classes with weights that make them independent of the covariates. Univariate
tests are score tests of that model. And probes are permuted among samples that are alike in what
features follow of the covariates (*cells*).

The last one is needed because a residual is uncorrelated with the covariates, but not independent
of them given a feature. Where the frequency of a relevant feature A differs between populations,
the residual given A is high where A is rare: any feature that tells populations apart then tells of
the residual beside A, in trees and in pairs. Probes that follow the populations, too, do the same.
"""
