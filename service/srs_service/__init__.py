"""The service: selections, explanations and ingests as jobs over HTTP (`srs serve`).

`app` makes the application from `settings`; `routes` parse, call one thing and return a schema;
`runner` runs jobs in processes of their own; `job_store` is all SQL. It uses public names of `srs`.
"""
