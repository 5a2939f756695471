"""What a person sees: progress in a terminal or a notebook, tables in HTML, word of compiling."""
