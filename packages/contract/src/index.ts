export { type AuditAction, auditActions } from './audit-actions.ts'
export { type ErrorBody, type ErrorCode, errorMessageBytesMax, errorTable } from './errors.ts'
export { type Role, roles, type Scope, scopes } from './principals.ts'
