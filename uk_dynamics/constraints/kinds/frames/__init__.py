"""What holds between two frames, or of one frame, without being a joint."""
