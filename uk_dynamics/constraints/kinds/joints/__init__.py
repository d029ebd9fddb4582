"""What holds between the coordinates of joints."""
