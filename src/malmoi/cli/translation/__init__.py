"""The command line in Korean: English stays the language of the library, and is translated here."""
