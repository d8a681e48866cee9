"""Print the list of published numbers: `python -m benchmarks.paper`."""

from benchmarks.paper import list_numbers

if __name__ == "__main__":
    for line in list_numbers():
        line.show()
