"""The nodes: a thin shell of ROS 2 around the library, and the commands that need running nodes."""
