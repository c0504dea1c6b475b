"""The resolver's API: ⑤ where people answer cases, state values, and ask why a value is there."""
