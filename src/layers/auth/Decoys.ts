import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { AuthDecoyRepo } from "../../domain/auth/AuthDecoyRepo.ts"
import type { Mail, Mails } from "../../domain/mail/Mail.ts"
import { MailLimit } from "../../http/auth/AuthGateway.ts"
import type { Tally } from "./AuthScope.ts"

/** What is known of an answer that is about to leave. */
export interface Answered {
  /** Behind `/api/auth`. */
  readonly path: string
  readonly status: number
  readonly tally: Tally
  readonly organizationId: string
}

/** A mail like the others, to somebody who does not exist. */
const mailTo = (template: "password-reset" | "email-verification", organizationId: string): Mail => {
  const about = { to: `${randomUUID()}@nobody.invalid`, organizationId }
  const url = `http://nobody.invalid/${"0".repeat(200)}`
  return template === "password-reset"
    ? { template, ...about, data: { resetUrl: url, userName: "Nobody" } }
    : { template, ...about, data: { verifyUrl: url, userName: "Nobody" } }
}

/** Whether somebody could learn from the time of this answer who has an account. */
export const tellsByTime = ({ path, status }: Pick<Answered, "path" | "status">): boolean =>
  path === "/sign-in/email"
    ? status === 401
    : ["/sign-up/email", "/request-password-reset", "/send-verification-email"].includes(path)

/**
 * The work that an address which somebody has, or has not, spared the service, done for nobody: otherwise the time of an
 * answer, and of those beside it, would tell who has an account. Nothing of it stays, and a failure changes no answer.
 */
export const makeDecoys = (mails: Mails["Service"]) =>
  Effect.map(AuthDecoyRepo, ({ account, newAccount, newToken, token, undone }) => {
    // Counted as well, for an address that is nobody's.
    const send = (mail: Mail) =>
      Effect.andThen(Effect.flatMap(MailLimit, (limit) => limit(mail.template, mail.to)), mails.send(mail))
    const missing = ({ organizationId, path, status, tally }: Answered) => {
      const unmailed = status === 200 && tally.mails === 0
      switch (path) {
        // Of an address that is known the account was looked up too.
        case "/sign-in/email":
          return tally.statements === 1 ? account : Effect.void
        // An address that is taken made no account and no mail.
        case "/sign-up/email":
          return unmailed
            ? undone(Effect.andThen(newAccount, send(mailTo("email-verification", organizationId))))
            : Effect.void
        // Of an unknown one a token was looked up, and none was made.
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
      Effect.catchCause(missing(answered), (cause) => Effect.logWarning("work for nobody failed", cause))
  })
