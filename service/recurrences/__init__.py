"""What comes up again in one session after another: errors, and what a person says to be kept."""
