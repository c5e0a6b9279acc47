"""An icon written as code: imports, components and markup of every framework, from one table."""
