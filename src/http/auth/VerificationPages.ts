import { HttpServerResponse } from "effect/http"
import type { LinkState, PasswordRefused } from "./AddressVerification.ts"

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "")

/** No scripts, no resources, and the form can be sent only to this service. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const style = "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem}" +
  "input,button{font:inherit;width:100%;box-sizing:border-box;padding:.6rem;margin:.4rem 0 1rem}[role=alert]{color:#a00}"

/** The link of a page. */
export interface PageOf {
  readonly storeName: string
  readonly token: string
  readonly callbackURL: string | undefined
  /** The address of the form, with the organization of the link. */
  readonly action: string
}

const page = (status: number, title: string, content: string) =>
  HttpServerResponse.text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
      `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)}</title>` +
      `<style>${style}</style></head><body><main><h1>${escaped(title)}</h1>${content}</main></body></html>`,
    { status, contentType: "text/html; charset=utf-8" }
  ).pipe(HttpServerResponse.setHeaders({ "content-security-policy": policy, "cache-control": "no-store" }))

const hidden = (name: string, value: string | undefined): string =>
  value === undefined ? "" : `<input type="hidden" name="${name}" value="${escaped(value)}">`

const passwordField =
  `<p>Choose a password for the account. It replaces everything that was set up before, so that only the ` +
  `owner of this mailbox has access.</p><label>New password<input type="password" name="newPassword" minlength="8" ` +
  `maxlength="128" autocomplete="new-password" required></label>`

const form = ({ action, callbackURL, token }: PageOf, needsPassword: boolean): string =>
  `<form method="post" action="${escaped(action)}">${hidden("token", token)}${hidden("callbackURL", callbackURL)}${
    needsPassword ? passwordField : ""
  }<button type="submit">This address is mine</button></form>`

const onward = (callbackURL: string | undefined): string =>
  callbackURL === undefined || callbackURL === "/"
    ? "<p>You can close this page and sign in.</p>"
    : `<p><a href="${escaped(callbackURL)}">Continue</a></p>`

/** The page of a link for the state of its verification. */
export const pageOf = (of: PageOf, state: LinkState | PasswordRefused) => {
  switch (state._tag) {
    case "Waiting":
      return page(200, `Confirm your address for ${of.storeName}`, form(of, state.needsPassword))
    case "PasswordRefused": {
      const problem = `<p role="alert">${escaped(state.message)}. Choose another one.</p>`
      return page(400, `Confirm your address for ${of.storeName}`, problem + form(of, true))
    }
    case "Verified":
      return page(200, "Your address is confirmed", onward(of.callbackURL))
    case "Dead":
      return page(
        401,
        "This link does not work any more",
        "<p>Links work for an hour and once. Sign in, or ask the shop for another one.</p>"
      )
  }
}
