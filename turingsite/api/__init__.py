"""The REST interface below /api/v1/: tokens, what they open, one shape for errors, schema and docs.

Wiring, like the desk: it reads from every floor and writes through services.
"""
