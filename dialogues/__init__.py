"""The corpus: systems, speakers, dialogues, recordings, processing; exposures, flags, verdicts."""
