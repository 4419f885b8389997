"""Remote calls between the judge and a student's process: plain data and tensors cross, never pickles."""
