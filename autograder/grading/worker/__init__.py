"""The process that imports PyTorch once and forks a judge and a student's process for each submission."""
