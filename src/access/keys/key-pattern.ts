// The form of an API key, without its checksum. Browsers load this module too, so it imports nothing.

export const keyInText = /pet_[0-9A-Za-z]{36}/;
export const wholeKey = new RegExp(`^${keyInText.source}$`);
