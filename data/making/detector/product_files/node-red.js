module.exports = { uiHost: '127.0.0.1', flowFile: 'flows.json', credentialSecret: false,
  editorTheme: { tours: false, projects: { enabled: false } },
  telemetry: { enabled: false, updateNotification: false } }
