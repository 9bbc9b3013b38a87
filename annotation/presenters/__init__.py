"""Everything an annotator's browser gets: nothing here tells kind, purpose, system, place or other raters."""
