/** The end of each command's help, unless the command has its own exit codes. */
export const EXIT_CODES = `
Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown command or option, or an invalid value of an option`;
