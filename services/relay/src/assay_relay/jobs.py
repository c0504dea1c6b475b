"""stub"""


class JobsProcess:
    """stub"""
