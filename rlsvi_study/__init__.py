"""The paper's studies: what is computed, judged and drawn, one topic a folder."""
