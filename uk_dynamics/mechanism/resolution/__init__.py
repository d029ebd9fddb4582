"""From names in a file to frames, joints and motors of the robot."""
