"""The pairwise judge: two outputs of one case side by side, in both orders."""
