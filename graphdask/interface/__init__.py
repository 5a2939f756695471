"""What public functions share: kinds of arguments, descriptions of parameters, the registry, suggestions of names."""
