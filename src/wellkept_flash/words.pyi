WORD: str
NUMBER: str
NOT: str
LIKE: str
HATE: str
MARK: str
SKIP: str

class Token:
    text: str
    kind: str
    broke: bool
    spelled: bool
    def __init__(self, text: str, kind: str, broke: bool) -> None: ...

def is_han(char: str) -> bool: ...
def is_spaced(before: str, after: str) -> bool: ...
def is_subject(token: Token) -> bool: ...
def fold(text: str) -> str: ...
def tokens(text: str) -> list[Token]: ...
