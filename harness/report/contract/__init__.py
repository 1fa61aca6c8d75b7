"""The report of a qualification: results, pages, pictures, the terminal's lines."""
