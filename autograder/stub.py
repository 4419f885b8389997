"""What stands in place of an answer until a student writes one; a check knows it by its message."""

STUB_MESSAGE = "Your code here."
TEXT_STUB = "*Your answer here.*"  # in place of an answer in words
STUB = f'raise NotImplementedError("{STUB_MESSAGE}")'
