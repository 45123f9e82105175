import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { AuthDecoyRepo } from "../../domain/auth/AuthRepo.ts"
import type { Mail, Mails } from "../../domain/mail/Mail.ts"
import { MailLimit } from "../../http/auth/AuthRequest.ts"
import type { Tally } from "./AuthScope.ts"

/** A response that is about to be sent. */
export interface Answered {
  /** After `/api/auth`. */
  readonly path: string
  readonly status: number
  readonly tally: Tally
  readonly organizationId: string
}

/** A mail like a real one, to an address that does not exist. */
const mailTo = (template: "password-reset" | "email-verification", organizationId: string): Mail => {
  const about = { to: `${randomUUID()}@decoy.invalid`, organizationId }
  const url = `http://decoy.invalid/${"0".repeat(200)}`
  return template === "password-reset"
    ? { template, ...about, data: { resetUrl: url, userName: "Decoy" } }
    : { template, ...about, data: { verifyUrl: url, userName: "Decoy" } }
}

/** Whether the time of this response could reveal which addresses have an account. */
export const tellsByTime = ({ path, status }: Pick<Answered, "path" | "status">): boolean =>
  path === "/sign-in/email"
    ? status === 401
    : ["/sign-up/email", "/request-password-reset", "/send-verification-email"].includes(path)

/**
 * Repeats the work that a known or unknown address saved: otherwise the time of a response, and of concurrent ones, would
 * reveal which addresses have an account. It is rolled back, and a failure changes no response.
 */
export const makeDecoys = (mails: Mails["Service"]) =>
  Effect.map(AuthDecoyRepo, ({ account, newAccount, newToken, token, undone }) => {
    // Counts towards the limit of mails too.
    const send = (mail: Mail) =>
      Effect.andThen(Effect.flatMap(MailLimit, (limit) => limit(mail.template, mail.to)), mails.send(mail))
    const missing = ({ organizationId, path, status, tally }: Answered) => {
      const unmailed = status === 200 && tally.mails === 0
      switch (path) {
        // For a known address the account was looked up too.
        case "/sign-in/email":
          return tally.statements === 1 ? account : Effect.void
        // A taken address created no account and no mail.
        case "/sign-up/email":
          return unmailed
            ? undone(Effect.andThen(newAccount, send(mailTo("email-verification", organizationId))))
            : Effect.void
        // For an unknown address a token was looked up, and none created.
        case "/request-password-reset":
          return unmailed
            ? Effect.andThen(undone(newToken), undone(send(mailTo("password-reset", organizationId))))
            : token
        case "/send-verification-email":
          return unmailed ? undone(send(mailTo("email-verification", organizationId))) : Effect.void
        default:
          return Effect.void
      }
    }
    return (answered: Answered) =>
      Effect.catchCause(missing(answered), (cause) => Effect.logWarning("decoy work failed", cause))
  })
