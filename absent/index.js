const absent = () => {
  throw new Error('This package is left out. See package.json in this folder.');
};

export { absent as normalize, absent as renderApiReference, absent as toJson, absent as toYaml };
