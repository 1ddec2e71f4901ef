/** The exit codes at the end of each command's help. Some commands have their own list. */
export const EXIT_CODES = `
Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown command or option, or an invalid value of an option`;
