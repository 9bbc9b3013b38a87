"""Settings by place: embedded (default), production, test; each starts from base."""
