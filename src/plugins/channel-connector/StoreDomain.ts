import { Result } from "effect"
import { invalid, type PluginConfig } from "stoa/plugin"

/** 422 of a text that names no store. */
export class NoStoreDomain extends invalid(
  "StoreDomain",
  "storeDomain",
  (what: string) => what
) {}

const refused = (what: string) => Result.fail(new NoStoreDomain(what))

/**
 * Scheme, host and port of a store, https where none is named. Whether the host is one that may be called is decided at
 * each call, because names can lead elsewhere later.
 */
export const canonicalDomain = (
  text: string,
  environment: PluginConfig["environment"]
): Result.Result<string, NoStoreDomain> => {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text.trim()) ? text.trim() : `https://${text.trim()}`
  if (!URL.canParse(whole)) return refused("must be the address of a store, such as https://shop.example.")
  const url = new URL(whole)
  if (url.protocol !== "https:" && (url.protocol !== "http:" || environment === "production")) {
    return refused("must begin with https://.")
  }
  if (url.username !== "" || url.password !== "") return refused("must not hold a user name or a password.")
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return refused("must end after host and port.")
  url.hostname = url.hostname.replace(/\.+$/, "")
  return url.hostname === "" ? refused("must name a host.") : Result.succeed(url.origin)
}
