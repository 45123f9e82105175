import { Effect } from "effect"
import { TooManyMails } from "../../../domain/mail/MailLimits.ts"
import type {
  BadRequest,
  CheckoutFailed,
  Conflict,
  Forbidden,
  InvalidTransition,
  NotFound,
  PayloadTooLarge,
  StillRunning,
  Unauthorized,
  Unavailable,
  ValidationFailed
} from "../../../domain/platform/errors/ApiErrors.ts"
import { answerOf, ApiError } from "./ApiError.ts"

/** The errors a handler may fail with; each has a status (spec §7), `ApiError` one of its choice. Anything else is a 500. */
export type RouteError =
  | ApiError
  | BadRequest
  | CheckoutFailed
  | Conflict
  | Forbidden
  | InvalidTransition
  | NotFound
  | PayloadTooLarge
  | StillRunning
  | TooManyMails
  | Unauthorized
  | Unavailable
  | ValidationFailed

const isOwn = (error: RouteError): error is ApiError | TooManyMails =>
  error instanceof ApiError || error instanceof TooManyMails

const tooMany = ({ retryAfter }: TooManyMails) =>
  ApiError.of({ status: 429, code: "TOO_MANY_REQUESTS", message: "Too many messages. Try again later.", retryAfter })

/** Answers errors of the plugin; those of the service are answered by its middleware. */
export const inEnvelope = <A, R>(work: Effect.Effect<A, RouteError, R>) =>
  Effect.catchIf(work, isOwn, (error) => answerOf(error instanceof ApiError ? error : tooMany(error)))
