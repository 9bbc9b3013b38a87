"""The speech game: people hear two-speaker dialogues and judge whether speaker B is human or machine."""
