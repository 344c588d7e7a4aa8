"""Messages that cyclopts writes and our command line prints: usage errors, without full stops."""

FOREIGN = (
    'Unknown command "{command}"',
    'Unknown command "{command}". Available commands: {commands}',
    'Unknown command "{command}". Did you mean "{other}"?',
    'Unknown command "{command}". Did you mean "{other}"? Available commands: {commands}',
    "Unknown option: {option}",
    "Unknown option: {option}. Did you mean {other}?",
    "Unknown option: {option}. {letter} is not a recognized option",
    'Invalid value "{value}" for {option}. Choose from: {choices}',
    'Invalid value "{value}" for {option}. Choose from: {choices}. Did you mean "{other}"?',
    'Invalid value for {option}: unable to convert "{value}" into {kind}',
    "Unused Tokens: {tokens}",
    'Command "{command}" parameter {option} requires an argument',
    'Command "{command}" parameter {option} requires {count} positional arguments',
    'Command "{command}" parameter {option} requires {count} positional arguments.'
    " Only got {given}",
    "Parameter {option} specified multiple times",
)

# Single words of ours that messages hold; longer phrases are found in the sources.
WORDS = (
    *(
        "Korean",
        "English",
        "vectors",
        "scores",
        "text",
        "texts",
        "word",
        "words",
        "token",
        "tokens",
    ),
    *("sentence", "document", "pairs", "questions", "classes", "labels", "groups", "examples"),
    *("row", "rows", "line", "lines", "with", "without"),
)
