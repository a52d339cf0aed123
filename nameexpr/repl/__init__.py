"""The session at a terminal: lines in, values, pictures of what will be done, and mistakes out."""
