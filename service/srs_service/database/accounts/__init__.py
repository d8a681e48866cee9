"""Users beyond their keys: shares, teams, who was disabled, what was done, sign-ins under way."""
