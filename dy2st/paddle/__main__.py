"""`python -m dy2st.paddle script.py`: in its process, `import paddle` means `dy2st.paddle`."""

import sys

from dy2st.paddle.as_paddle import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
