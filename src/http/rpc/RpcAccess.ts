import { RpcMiddleware } from "effect/rpc"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import { refusals } from "./RpcErrors.ts"

/**
 * Stands before every call at `/rpc` (docs/rpc.md): who calls, by the API key in the header `x-api-key` of the call, whether
 * he may, within which limits, and once for an `idempotency-key`. A client has to say how it shows its key, or it does not
 * compile.
 */
export class RpcAccess
  extends RpcMiddleware.Service<RpcAccess, { provides: CurrentActor }>()("stoa/http/rpc/RpcAccess", {
    error: refusals,
    requiredForClient: true
  })
{}
