@rem Windows has no "exec", with which scripts of package.json begin.
@%*
