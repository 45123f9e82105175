import { Effect } from "effect"
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
  | Unauthorized
  | Unavailable
  | ValidationFailed

const isOwn = (error: RouteError): error is ApiError => error instanceof ApiError

/** Answers errors of the plugin; those of the service are answered by its middleware. */
export const inEnvelope = <A, R>(work: Effect.Effect<A, RouteError, R>) => Effect.catchIf(work, isOwn, answerOf)
