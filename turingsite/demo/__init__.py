"""The demo study: committed clips, a seed through the services, played rounds."""
