"""The commands of `assay`, a module for each thing an operator deals with."""
