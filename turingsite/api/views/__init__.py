"""The resources, thin: what may this caller see, which rows, in which shape. Imports go rows → edge."""
