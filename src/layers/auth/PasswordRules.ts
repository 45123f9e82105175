/** Why a password is not taken that somebody chooses; undefined for one that is. */
export const refusedPassword = (password: string): { readonly code: string; readonly message: string } | undefined => {
  if (password.length < 8) return { code: "PASSWORD_TOO_SHORT", message: "Password too short" }
  return password.length > 128 ? { code: "PASSWORD_TOO_LONG", message: "Password too long" } : undefined
}
