import { Api } from "../../src/http/Api.ts"
import { securitySchemes } from "../../src/http/openapi/SecuritySchemes.ts"
import { describeDocument } from "./DocumentChecks.ts"

describeDocument("Stoa", Api, { securitySchemes: securitySchemes("uc.session_token") })
